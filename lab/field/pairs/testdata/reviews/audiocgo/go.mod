module audiocgo

go 1.26
