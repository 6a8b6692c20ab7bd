"""A release tried before it is one: built in two environments, compared, verified."""
