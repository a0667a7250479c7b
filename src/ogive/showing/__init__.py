"""What any page of HTML needs: markup, charts, the frame of a chapter, words."""
