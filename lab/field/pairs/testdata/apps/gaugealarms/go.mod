module gaugealarms

go 1.26
