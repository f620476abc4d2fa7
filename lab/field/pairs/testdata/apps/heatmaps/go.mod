module heatmaps

go 1.26
