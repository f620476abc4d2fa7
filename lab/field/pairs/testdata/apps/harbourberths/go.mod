module harbourberths

go 1.26
