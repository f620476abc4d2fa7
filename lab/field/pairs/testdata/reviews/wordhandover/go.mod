module wordhandover

go 1.26
