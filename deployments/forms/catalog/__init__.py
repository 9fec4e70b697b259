"""Forms of the catalog: files of a model, and what they leave open."""
