module callrating

go 1.26
