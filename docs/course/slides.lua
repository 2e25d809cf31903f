-- SPDX-License-Identifier: GPL-2.0
--
-- A filter for pandoc that makes slides of a chapter: one for each paragraph, picture, list and
-- question, and for what comes out.  A paragraph's first words in bold are the title of its slide.
-- make slides calls it.

local slides = {}
local chapter, section = {}, {}

local function slide(title, block)
	table.insert(slides, pandoc.Header(2, title))
	table.insert(slides, block)
end

-- The first words in bold of a block, or else the name of its section.
local function title_of(block)
	local title

	pandoc.walk_block(block, {Strong = function(strong)
		title = title or strong.content
	end})
	return title or section
end

local function add(block)
	local name = pandoc.utils.stringify(section)

	if block.t == "Header" then
		section = block.content
		if block.level == 1 then
			chapter = block.content
			table.insert(slides, block)
		end
	elseif block.t == "RawBlock" or name == "Sources" then
		return
	elseif block.t == "BulletList" and name ~= "Predict" then
		slide(section, block)
	elseif block.t == "BulletList" then
		for _, item in ipairs(block.content) do
			slide(section, pandoc.Para(item[1].content))
		end
	else
		slide(title_of(block), block)
	end
end

-- Links lead to pages that are not there.
function Link(link)
	return link.content
end

function Pandoc(doc)
	for _, block in ipairs(doc.blocks) do
		add(block)
	end
	doc.meta.pagetitle = pandoc.utils.stringify(chapter)
	return pandoc.Pandoc(slides, doc.meta)
end
