module ferrytimes

go 1.25
