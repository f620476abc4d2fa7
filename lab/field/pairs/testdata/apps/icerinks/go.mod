module icerinks

go 1.26
