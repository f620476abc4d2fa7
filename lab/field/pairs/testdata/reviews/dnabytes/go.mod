module dnabytes

go 1.26
