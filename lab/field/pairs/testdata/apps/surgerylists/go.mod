module surgerylists

go 1.26
