module camerawall

go 1.23
