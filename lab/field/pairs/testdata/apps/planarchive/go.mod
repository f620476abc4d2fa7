module planarchive

go 1.26
