"""The proof that a schedule neither hangs nor races, for every trip count: see docs/proof.md."""
