module uplinkprobes

go 1.25

require github.com/HdrHistogram/hdrhistogram-go v1.1.2
