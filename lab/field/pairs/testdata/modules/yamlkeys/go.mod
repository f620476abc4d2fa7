module yamlkeys

go 1.26

require gopkg.in/yaml.v2 v2.2.7
