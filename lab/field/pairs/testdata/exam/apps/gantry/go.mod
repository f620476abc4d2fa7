module gantry

go 1.25
