"""hrcase: the hard-to-round cases of mathematical functions, with proof."""
