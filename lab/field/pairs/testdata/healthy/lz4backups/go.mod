module lz4backups

go 1.26

require github.com/pierrec/lz4/v4 v4.1.33
