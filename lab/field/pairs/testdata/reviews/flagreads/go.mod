module flagreads

go 1.26
