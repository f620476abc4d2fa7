module sensorfields

go 1.26
