module reefcameras

go 1.26
