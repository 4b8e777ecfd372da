"""What the model may do: one file for each tool, `dispatch.py` says what each call does."""
