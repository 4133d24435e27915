"""What is printed about a program: trees, graphs, tables."""
