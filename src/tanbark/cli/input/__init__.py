"""What commands read: options, columns, rows."""
