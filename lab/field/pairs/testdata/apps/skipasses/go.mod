module skipasses

go 1.26
