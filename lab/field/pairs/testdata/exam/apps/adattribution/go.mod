module adattribution

go 1.23
