module questpath

go 1.26
