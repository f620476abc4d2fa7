module statutelint

go 1.26
