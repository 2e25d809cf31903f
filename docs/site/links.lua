-- SPDX-License-Identifier: GPL-2.0
--
-- Pages of Markdown refer to each other as files; here they become references between the pages
-- that are made of these. Metadata: path, where in the tree the page is from.

local folder, depth

-- What is at a path: "file", "folder" or nil.
local function kind(path)
	local file = io.open(path)
	if not file then
		return nil
	end
	local _, why = file:read(0)
	file:close()
	return why and "folder" or "file"
end

local function target(link)
	local path, anchor = link:match("^([^#]*)(.*)$")
	if path == "" or path:match("^%a+:") or path:match("%.svg$") or path:match("%.html$") then
		return link
	end
	path = path:gsub("/$", "")
	if path:match("README%.md$") then
		return path:gsub("README%.md$", "index.html") .. anchor
	elseif path:match("%.md$") then
		return path:gsub("%.md$", ".html") .. anchor
	elseif kind("../../" .. folder .. path) == "folder" then
		return path .. "/index.html" .. anchor
	end
	return path .. ".html" .. anchor
end

local function meta(m)
	local path = pandoc.utils.stringify(m.path)
	folder = path:match("^(.*/)[^/]*$") or ""
	depth = select(2, folder:gsub("/", ""))
	m.root = string.rep("../", depth)
	return m
end

-- How each code block is run is for the tests; a title is told in the tab of the browser, too.
local function blocks(doc)
	for _, block in ipairs(doc.blocks) do
		if block.t == "Header" and block.level == 1 then
			doc.meta.pagetitle = pandoc.utils.stringify(block)
			break
		end
	end
	return doc
end

local function raw(el)
	if el.text:match("^%s*<!%-%-") then
		return {}
	end
end

return {
	{ Meta = meta },
	{ Pandoc = blocks, RawBlock = raw, Link = function(el)
		el.target = target(el.target)
		return el
	end },
}
