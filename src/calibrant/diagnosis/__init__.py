"""What the command line evaluates slices and periods by."""
