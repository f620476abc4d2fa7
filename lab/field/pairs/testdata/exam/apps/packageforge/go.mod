module packageforge

go 1.25
