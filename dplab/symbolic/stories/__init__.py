"""Stories: how each kind of mechanism is derived. Each is a list of steps made of the bricks in `common`."""
