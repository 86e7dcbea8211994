"""Floor 0, the vocabulary: pairs, PLDs, compositions, exact parameters, number types, errors, directions."""
