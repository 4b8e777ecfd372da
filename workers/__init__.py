"""Who thinks: RQ jobs that take a conversation's turn, deliver messages and keep the clock."""
