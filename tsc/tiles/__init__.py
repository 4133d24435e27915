"""Tile orders: in which order the tiles of a queue are taken. One module an order."""
