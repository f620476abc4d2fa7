module flatviewings

go 1.26
