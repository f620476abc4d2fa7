module etreepath

go 1.26

require github.com/beevik/etree v1.5.1
