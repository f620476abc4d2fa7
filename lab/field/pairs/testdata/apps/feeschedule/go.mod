module feeschedule

go 1.26
