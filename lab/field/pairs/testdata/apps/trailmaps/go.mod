module trailmaps

go 1.26
