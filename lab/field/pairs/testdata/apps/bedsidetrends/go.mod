module bedsidetrends

go 1.26
