module bigcachesessions

go 1.26

require github.com/allegro/bigcache/v3 v3.1.0
