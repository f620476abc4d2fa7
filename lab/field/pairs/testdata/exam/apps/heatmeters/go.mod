module heatmeters

go 1.24
