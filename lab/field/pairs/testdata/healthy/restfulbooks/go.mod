module restfulbooks

go 1.26

require github.com/emicklei/go-restful/v3 v3.14.0
