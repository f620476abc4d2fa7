module meterfeeds

go 1.26
