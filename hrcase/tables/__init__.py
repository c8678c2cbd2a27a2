"""The certified exp tables of Théry and Zimmermann: reading their lines, and running them."""
