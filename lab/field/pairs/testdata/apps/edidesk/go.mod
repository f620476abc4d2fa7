module edidesk

go 1.26
