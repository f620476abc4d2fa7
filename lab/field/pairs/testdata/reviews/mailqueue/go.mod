module mailqueue

go 1.26
