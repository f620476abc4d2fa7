module stockprobe

go 1.26
