module clickpipeline

go 1.26
