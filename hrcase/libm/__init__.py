"""Real libraries, asked for f(x) at given arguments, and what they round wrongly."""
