module cattlepasses

go 1.26
