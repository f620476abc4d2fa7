module certificateprints

go 1.26
